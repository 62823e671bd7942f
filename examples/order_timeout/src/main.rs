//! Orders close themselves unless they are paid in time: the [`Scheduler`] in thirty lines.
//!
//! `cargo run -p example-order_timeout`. Real shops give half an hour, this one two seconds.

use std::error::Error;
use std::time::Duration;

use wheel_runtime::{CancelOutcome, Scheduler, SubmitError, TaskHandle};

/// Places an order, which closes itself if it is not paid within `time_to_pay`.
fn place(shop: &Scheduler, order: u32, time_to_pay: Duration) -> Result<TaskHandle, SubmitError> {
    shop.task(format!("close-order-{order}"))
        .after(time_to_pay)
        .run(move |_| println!("order {order} was not paid for and is closed"))
}

/// Pays an order. False: it is too late, the order is closed.
fn pay(shop: &Scheduler, order: u32) -> bool {
    shop.cancel(&format!("close-order-{order}")) == CancelOutcome::Cancelled
}

fn main() -> Result<(), Box<dyn Error>> {
    let shop = Scheduler::builder().workers(2).build()?;
    let orders = [1001, 1002, 1003].map(|order| place(&shop, order, Duration::from_secs(2)));
    println!("order 1002 is paid in time: {}", pay(&shop, 1002));
    for order in orders {
        order?.wait();
    }
    println!("order 1003 is paid in time: {}", pay(&shop, 1003));
    let report = shop.shutdown(Duration::from_secs(1))?;
    println!("{} orders are still open", report.pending.len());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use wheel_runtime::{ManualClock, TaskState};

    const HALF_HOUR: Duration = Duration::from_secs(30 * 60);

    fn shop() -> Result<(ManualClock, Scheduler), Box<dyn Error>> {
        let clock = ManualClock::new();
        let shop = Scheduler::builder()
            .workers(1)
            .clock(clock.clone())
            .build()?;
        Ok((clock, shop))
    }

    #[test]
    fn an_order_that_is_paid_is_not_closed() -> Result<(), Box<dyn Error>> {
        let (clock, shop) = shop()?;
        let order = place(&shop, 7, HALF_HOUR)?;
        clock.advance(HALF_HOUR - Duration::from_millis(1));
        assert!(pay(&shop, 7));
        clock.advance(HALF_HOUR);
        assert_eq!(order.wait(), TaskState::Cancelled);
        Ok(())
    }

    #[test]
    fn an_order_that_is_not_paid_is_closed_on_time_and_not_before() -> Result<(), Box<dyn Error>> {
        let (clock, shop) = shop()?;
        let order = place(&shop, 7, HALF_HOUR)?;
        clock.advance(HALF_HOUR - Duration::from_millis(1));
        assert_eq!(order.info().state, TaskState::Scheduled);
        clock.advance(Duration::from_millis(1));
        assert_eq!(order.wait(), TaskState::Succeeded);
        assert!(!pay(&shop, 7), "it is too late");
        Ok(())
    }

    #[test]
    fn an_order_is_placed_once() -> Result<(), Box<dyn Error>> {
        let (_clock, shop) = shop()?;
        place(&shop, 7, HALF_HOUR)?;
        let again = place(&shop, 7, HALF_HOUR);
        assert!(matches!(again, Err(SubmitError::DuplicateId(_))));
        Ok(())
    }
}
