use tool_core::HandlerError;

fn text_is_no_error() -> Result<(), HandlerError> {
    Err("something went wrong")?;
    Ok(())
}

fn number_is_no_error() -> HandlerError {
    404_u16.into()
}

fn main() {
    let _ = text_is_no_error();
    let _ = number_is_no_error();
}
