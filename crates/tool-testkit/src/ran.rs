//! Runs the cases of a suite, one after the other.

/// The report of a suite: each case is a function of that name in that module.
macro_rules! ran {
    ($harness:ident; $($module:ident::$case:ident),* $(,)?) => {{
        let declared = $harness.declared();
        let mut report = Report::default();
        $(
            let name = stringify!($case);
            let reason = declared.iter().find(|(case, _)| *case == name);
            let ran = $module::$case($harness).await;
            report.add(name, ran, reason.map(|(_, reason)| *reason));
        )*
        report.find_strangers(&declared);
        report
    }};
}
