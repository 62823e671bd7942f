//! Interim.
use super::*;

pub(crate) struct FoundDue {
    pub(crate) each: Vec<Found>,
    pub(crate) dropped: u64,
    pub(crate) next: Option<Due>,
}
pub(crate) struct Found {
    pub(crate) nominal: SystemTime,
    pub(crate) due: SystemTime,
}
impl Plan {
    pub(crate) fn occur_armed(&mut self, armed: Due, now: Moment, wall: SystemTime) -> Occurrence {
        match armed {
            Due::Wall(at) => self.occur_by_wall(at, wall),
            Due::Monotonic(due) => self.occur(due, now),
        }
    }
    pub(crate) fn late(
        &self,
        armed: Due,
        o: &Occurrence,
        now: Moment,
        wall: SystemTime,
    ) -> Duration {
        match armed {
            Due::Wall(_) => wall.duration_since(o.nominal).unwrap_or_default(),
            Due::Monotonic(_) => self
                .calendar(Due::Monotonic(now))
                .duration_since(o.nominal)
                .unwrap_or_default(),
        }
    }
    pub(crate) fn next_from(&self, now: Moment, wall: SystemTime) -> Option<Due> {
        self.resume(now, wall)
    }
    pub(crate) fn between(
        &self,
        from: SystemTime,
        to: SystemTime,
    ) -> Option<std::vec::IntoIter<SystemTime>> {
        let mut at = Vec::new();
        match &self.rhythm {
            Rhythm::Grid { period } => {
                let mut t = self.anchor.1;
                while t < to {
                    if t >= from {
                        at.push(t);
                    }
                    t += *period;
                }
            }
            Rhythm::Calendar(c) => {
                let mut t = from - Duration::from_nanos(1);
                while let Some(n) = c.next_after(t).filter(|n| *n < to) {
                    at.push(n);
                    t = n;
                }
            }
            _ => return None,
        }
        Some(at.into_iter())
    }
    pub(crate) fn found_due(
        &mut self,
        armed: Due,
        now: Moment,
        wall: SystemTime,
        max: usize,
    ) -> FoundDue {
        let o = self.occur_armed(armed, now, wall);
        let mut each = Vec::new();
        match (&self.rhythm, armed) {
            (Rhythm::Grid { period }, Due::Monotonic(due)) => {
                for k in 0..=o.missed {
                    let d = self.calendar(Due::Monotonic(due)) + *period * k as u32;
                    each.push(Found { nominal: d, due: d });
                }
            }
            (Rhythm::Calendar(c), Due::Wall(at)) => {
                let mut t = Some(at);
                while let Some(n) = t.filter(|t| *t <= wall) {
                    each.push(Found { nominal: n, due: n });
                    t = c.next_after(n);
                }
            }
            _ => each.push(Found {
                nominal: o.nominal,
                due: o.due,
            }),
        }
        let dropped = each.len().saturating_sub(max);
        each.drain(..dropped);
        FoundDue {
            each,
            dropped: dropped as u64,
            next: o.next,
        }
    }
}
