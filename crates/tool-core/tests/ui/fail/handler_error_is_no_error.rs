use tool_core::HandlerError;

fn main() {
    let error = HandlerError::defect("something went wrong");
    let _: Box<dyn std::error::Error> = Box::new(error);
}
