//! Whether the driver is woken when it must be, and left alone otherwise.
//!
//! From the return of `next_due` until the next `advance` the driver is taken to sleep. Whatever
//! becomes due before the tick that it was told wakes it; what is due no earlier than something
//! that has woken it already need not. Nothing else may, unless so much has come that the driver
//! should have a look at it.

/// So many arrivals may call the driver whatever they are due at.
const MANY: u64 = 1_000;

/// The driver's sleep.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Sleep {
    /// The tick that it sleeps until; `u64::MAX` for ever, 0 while it is awake.
    until: u64,
    /// The earliest tick that it knows of.
    called_for: u64,
    /// Inserts and resets since it last looked.
    arrivals: u64,
}

impl Sleep {
    /// The driver was told to come back then.
    pub(crate) fn until(&mut self, next_due: Option<u64>) {
        self.until = next_due.unwrap_or(u64::MAX);
        self.called_for = self.until;
    }

    /// The driver looks at everything.
    pub(crate) fn end(&mut self) {
        *self = Sleep::default();
    }

    /// A timer became due at a tick, and did not wake the driver.
    pub(crate) fn passed_over(&mut self, due: u64) -> Result<(), String> {
        if due < self.called_for {
            let until = self.until;
            return Err(format!(
                "the driver sleeps until {until} and was not woken for {due}"
            ));
        }
        self.arrivals += 1;
        Ok(())
    }

    /// A timer became due at a tick, and woke the driver.
    pub(crate) fn woken_for(&mut self, due: u64) -> Result<(), String> {
        self.arrivals += 1;
        let until = self.until;
        if due >= until && self.arrivals <= MANY {
            return Err(format!(
                "the driver sleeps until {until} and was woken for {due}"
            ));
        }
        self.called_for = self.called_for.min(due);
        Ok(())
    }
}
