//! What servers have beside tools: resources, their templates, prompts, completion and logs.

mod event;
mod offer;
mod offer_error;
mod port;
mod watching;

pub use event::{OfferEvent, OfferEventSender, OfferEvents};
pub use offer::{Completion, Offer, OfferKind};
pub use offer_error::{OfferError, OfferErrorKind};
pub use port::Offerings;
pub use watching::Watching;
