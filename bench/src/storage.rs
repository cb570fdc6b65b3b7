//! What it costs to keep long output, beside what the disk and the memory cost.

use std::cell::Cell;
use std::error::Error;
use std::fs::{self, File};
use std::hint::black_box;
use std::io::{self, BufWriter, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use futures_executor::block_on;
use tempfile::TempDir;
use tool_core::{Bound, Content, Facts, OutputStore as _, PageRequest, Retention};
use tool_storage::{DirStore, Durability, Limits, Marker, ReadingHint, preview};

use crate::report::Report;
use crate::rounds::{Contender, Rounds, Spread};
use crate::rows::{Amount, Line, Measured, Row, row};

type Done = Result<(), Box<dyn Error>>;

const STREAM: &[Row] = &[
    row("1 GiB", "streamed", "copied", Some(1.25)),
    row("1 GiB, synced", "streamed", "copied", Some(1.25)),
];
const PREVIEW: &[Row] = &[row("preview of 100 MB", "preview", "memchr", Some(1.5))];
const KEPT: &[Row] = &[
    row("page@end", "page@end", "page@start", Some(1.1)),
    row("list@10000", "list@10000", "list@10", Some(1.25)),
    row("put@10000", "put@10000", "put@10", None),
    row("bare@10000", "bare@10000", "bare@10", None),
];
/// What the store adds to the calls that it cannot do without is to be the same among few and many.
const ADDED: Row = row("put/bare@10000", "put/bare@10000", "put/bare@10", Some(1.1));

/// How much is streamed.
const STREAMED: usize = 1 << 30;
/// The most memory that streaming it may take.
const MOST_MEMORY: u64 = 16 << 20;
/// How much is read and handed on at once.
const PIECE: usize = 64 * 1024;

pub fn measure(report: &mut Report, rounds: u32) -> Done {
    if report.asks_for("store", STREAM) {
        stream(report)?;
    }
    if report.asks_for("preview", PREVIEW) {
        preview_of_much(report)?;
    }
    if report.asks_for("kept", KEPT) || report.asks_for("kept", &[ADDED]) {
        kept(report, rounds)?;
    }
    Ok(())
}

/// Streams a file into the store and copies the same file, in turns.
fn stream(report: &mut Report) -> Done {
    const ROUNDS: usize = 7;
    let dir = folder()?;
    let source = dir.path().join("source");
    write_lines(&source, STREAMED)?;
    let memory = memory_of_streaming(&dir, &source)?;
    if memory > MOST_MEMORY {
        return Err(format!("streaming took {memory} bytes of memory, over {MOST_MEMORY}").into());
    }
    let mut lines = Vec::new();
    for (row, durability) in STREAM.iter().zip([Durability::Process, Durability::Power]) {
        let store = store(&dir.path().join(row.name), durability)?;
        let syncs = durability == Durability::Power;
        lines.push(alternate(
            row,
            ROUNDS,
            || timed_stream(&store, &source),
            || copy(&source, &dir.path().join("copy"), syncs),
        )?);
    }
    let mib = memory as f64 / f64::from(1 << 20);
    report.add(
        format!(
            "store: 1 GiB from a file into the store in {mib:.1} MiB of memory, {ROUNDS} rounds"
        ),
        lines,
    );
    Ok(())
}

fn timed_stream(store: &DirStore, source: &Path) -> Result<Duration, Box<dyn Error>> {
    let start = Instant::now();
    let id = stream_once(store, source)?;
    let took = start.elapsed();
    store.remove(&id)?;
    Ok(took)
}

fn stream_once(store: &DirStore, source: &Path) -> Result<String, Box<dyn Error>> {
    let mut file = File::open(source)?;
    let mut output = store.begin(&Facts::new().session("s"), "bench", Bound::DEFAULT)?;
    let mut buffer = vec![0; PIECE];
    block_on(async {
        loop {
            let read = file.read(&mut buffer)?;
            if read == 0 {
                break;
            }
            output.write(std::str::from_utf8(&buffer[..read])?).await?;
        }
        let bounded = output.finish()?;
        assert_eq!(bounded.retained.bytes, STREAMED as u64);
        Ok(bounded.retained.id)
    })
}

/// The plain copy: read, write through a buffer, and nothing else.
fn copy(source: &Path, target: &Path, syncs: bool) -> Result<Duration, Box<dyn Error>> {
    let start = Instant::now();
    let mut file = File::open(source)?;
    let mut out = BufWriter::with_capacity(PIECE, File::create(target)?);
    let mut buffer = vec![0; PIECE];
    loop {
        let read = file.read(&mut buffer)?;
        if read == 0 {
            break;
        }
        out.write_all(&buffer[..read])?;
    }
    let file = out.into_inner()?;
    if syncs {
        file.sync_all()?;
    }
    drop(file);
    let took = start.elapsed();
    fs::remove_file(target)?;
    Ok(took)
}

/// By how much streaming once raises the most memory that this process ever had. 0 where the system
/// does not tell.
fn memory_of_streaming(dir: &TempDir, source: &Path) -> Result<u64, Box<dyn Error>> {
    let store = store(&dir.path().join("memory"), Durability::Process)?;
    // Forgets the peak so far, on Linux.
    let _ = fs::write("/proc/self/clear_refs", "5");
    let before = memory("VmRSS:");
    let id = stream_once(&store, source)?;
    let after = memory("VmHWM:");
    store.remove(&id)?;
    Ok(after.saturating_sub(before))
}

fn memory(what: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(what));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    kib.unwrap_or_default() * 1024
}

/// A preview of a long text, and looking for its newlines. Both are given the text and drop it.
fn preview_of_much(report: &mut Report) -> Done {
    const ROUNDS: usize = 31;
    let text: String = lines(100_000_000);
    let hint = ReadingHint::default();
    let marker = Marker::new("out_0123456789abcdef", &hint);
    let line = alternate(
        &PREVIEW[0],
        ROUNDS,
        || {
            let content = vec![Content::text(text.clone())];
            let start = Instant::now();
            let shown = preview(content, Bound::DEFAULT, &marker);
            let took = start.elapsed();
            assert_eq!(shown.len(), 3);
            Ok(took)
        },
        || {
            let content = text.clone();
            let start = Instant::now();
            black_box(memchr::memchr_iter(b'\n', content.as_bytes()).count());
            drop(content);
            Ok(start.elapsed())
        },
    )?;
    report.add(
        format!("preview: of one text of 100 MB, {ROUNDS} rounds"),
        vec![line],
    );
    Ok(())
}

/// Reading, storing and listing in stores of few and of many outputs.
fn kept(report: &mut Report, rounds: u32) -> Done {
    let dir = folder()?;
    let (few, many) = (
        store_of(10, &dir.path().join("few"))?,
        store_of(10_000, &dir.path().join("many"))?,
    );
    let large = store(&dir.path().join("large"), Durability::Process)?;
    let source = dir.path().join("source");
    write_lines(&source, STREAMED)?;
    let id = stream_once(&large, &source)?;
    fs::remove_file(source)?;
    // A change that is younger may hide another one; see `DirStore::list_page`.
    std::thread::sleep(Duration::from_millis(2_100));

    let page = |offset: u64| {
        let (large, id) = (&large, &id);
        async move || {
            let page = large.page(PageRequest::new(id, None).offset(offset)).await;
            page.map(|page| page.bytes.len()).ok()
        }
    };
    report.measure(
        "kept",
        "a page of 50 KiB of 1 GiB",
        &[
            Contender::awaited("page@start", page(0)),
            Contender::awaited("page@end", page((STREAMED - 60_000) as u64)),
        ],
        rounds,
        &KEPT[..1],
    );
    report.measure(
        "kept",
        "a list of at most 10",
        &[
            Contender::direct("list@10", || few.list_page(10, None).ok()),
            Contender::direct("list@10000", || many.list_page(10, None).ok()),
        ],
        rounds,
        &KEPT[1..2],
    );
    puts(report, rounds, [&few, &many], dir.path())
}

/// Storing among few and among many, beside the calls that no store of files gets by without, each
/// in a folder with as many files.
fn puts(report: &mut Report, rounds: u32, [few, many]: [&DirStore; 2], dir: &Path) -> Done {
    let (bare_few, bare_many) = (dir.join("bare few"), dir.join("bare many"));
    let names = Cell::new(0);
    for (folder, files) in [(&bare_few, 10), (&bare_many, 10_000)] {
        fs::create_dir(folder)?;
        for _ in 0..files {
            fs::write(folder.join(name(&names)), "y".repeat(100))?;
        }
    }
    let contenders = [
        Contender::awaited("put@10", put(few)),
        Contender::awaited("put@10000", put(many)),
        Contender::direct("bare@10", || bare(&bare_few, &names).ok()),
        Contender::direct("bare@10000", || bare(&bare_many, &names).ok()),
    ];
    let contenders: Vec<&Contender<'_>> = contenders.iter().collect();
    let rounds = Rounds::measure(&contenders, rounds);
    let measured = |ours: usize, peer: usize, ratio: Spread| Measured {
        ours: Amount::Nanos(rounds.nanos(ours).median),
        peer: Amount::Nanos(rounds.nanos(peer).median),
        ratio,
    };
    let lines = [
        (&KEPT[2], measured(1, 0, rounds.ratio(1, 0))),
        (&KEPT[3], measured(3, 2, rounds.ratio(3, 2))),
        (&ADDED, measured(1, 3, rounds.grown([1, 3], [0, 2]))),
    ];
    report.add(
        "kept: storing 4 KiB and forgetting it again".to_owned(),
        lines.map(|(row, measured)| Line::of(row, measured)).into(),
    );
    Ok(())
}

/// A file under one name, written, under its own name, and gone.
fn bare(folder: &Path, names: &Cell<u64>) -> io::Result<()> {
    let name = name(names);
    let (aside, shown) = (folder.join(format!(".new-{name}")), folder.join(name));
    let mut file = File::create_new(&aside)?;
    file.write_all(&[b'x'; 4_096])?;
    drop(file);
    fs::rename(&aside, &shown)?;
    fs::remove_file(&shown)
}

/// Another name each time, as long as those of the store and as far from each other, as a folder
/// finds a name that it had before faster.
fn name(names: &Cell<u64>) -> String {
    names.set(names.get() + 1);
    let far = names.get().wrapping_mul(0x9E37_79B9_7F4A_7C15);
    format!("out_{far:016x}")
}

fn put(store: &DirStore) -> impl AsyncFn() {
    let facts = Facts::new().session("put");
    let text = "x".repeat(4_096);
    async move || {
        let content = vec![Content::text(text.clone())];
        let bound = Bound::new(1_024, 100).unwrap_or_default();
        let retention = Retention::new(content, bound, &facts, "bench");
        if let Ok(bounded) = store.bound(retention).await {
            store.forget(&bounded.retained);
        }
    }
}

fn store_of(outputs: usize, root: &Path) -> Result<DirStore, Box<dyn Error>> {
    let store = store(root, Durability::Process)?;
    for number in 0..outputs {
        let facts = Facts::new().session(format!("s{}", number % 100));
        let content = vec![Content::text("y".repeat(100))];
        let retention = Retention::new(content, Bound::new(1, 1)?, &facts, "bench");
        block_on(store.bound(retention))?;
    }
    Ok(store)
}

fn store(root: &Path, durability: Durability) -> Result<DirStore, Box<dyn Error>> {
    let limits = Limits::new(2 << 30, 4 << 30, Limits::DEFAULT.time_to_live())?;
    let store = DirStore::builder(root).limits(limits);
    Ok(store.durability(durability).open()?)
}

/// Measures two in turns, each beginning every second round, and compares them round by round.
fn alternate(
    row: &Row,
    rounds: usize,
    ours: impl Fn() -> Result<Duration, Box<dyn Error>>,
    peer: impl Fn() -> Result<Duration, Box<dyn Error>>,
) -> Result<Line, Box<dyn Error>> {
    let (mut ours_ns, mut peer_ns, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    // The first round warms up.
    for round in 0..=rounds {
        let (one, other) = if round % 2 == 0 {
            let one = ours()?;
            (one, peer()?)
        } else {
            let other = peer()?;
            (ours()?, other)
        };
        if round > 0 {
            let (one, other) = (one.as_secs_f64() * 1e9, other.as_secs_f64() * 1e9);
            ours_ns.push(one);
            peer_ns.push(other);
            ratios.push(one / other);
        }
    }
    let measured = Measured {
        ours: Amount::Nanos(Spread::of(ours_ns).median),
        peer: Amount::Nanos(Spread::of(peer_ns).median),
        ratio: Spread::of(ratios),
    };
    Ok(Line::of(row, measured))
}

/// A folder on the disk that the product's state is likely to be on, not in memory.
fn folder() -> Result<TempDir, Box<dyn Error>> {
    let target = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("target");
    fs::create_dir_all(&target)?;
    Ok(tempfile::tempdir_in(target)?)
}

fn lines(bytes: usize) -> String {
    let line = "a line as a build prints it, neither short nor long, and nothing else in it\n";
    let mut text = line.repeat(bytes / line.len() + 1);
    text.truncate(bytes);
    text
}

fn write_lines(path: &Path, bytes: usize) -> Done {
    let mut out = BufWriter::new(File::create(path)?);
    let piece = lines(1 << 20);
    for _ in 0..bytes >> 20 {
        out.write_all(piece.as_bytes())?;
    }
    out.into_inner()?.sync_all()?;
    Ok(())
}
