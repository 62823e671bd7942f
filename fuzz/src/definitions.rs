//! Tasks as data: what a store may hold. Nothing in it makes the reader panic, and what it reads is
//! written in one form.

use wheel_runtime::TaskDefinition;

/// The definition: it is read, and what was read is written so that it is read again and written the
/// same; or there is a line that says why not.
pub fn definition(bytes: &[u8]) {
    match serde_json::from_slice::<TaskDefinition>(bytes) {
        Err(error) => assert!(!error.to_string().is_empty(), "wrong without a reason"),
        Ok(read) => {
            let written = write(&read);
            let again = serde_json::from_str::<TaskDefinition>(&written);
            let again = again.unwrap_or_else(|error| panic!("{written} is not read: {error}"));
            assert_eq!(write(&again), written, "it is written in another form");
            assert_eq!(again.payload, read.payload, "the payload of {written}");
            assert_eq!(again.schedule, read.schedule, "the schedule of {written}");
        }
    }
}

fn write(definition: &TaskDefinition) -> String {
    let written = serde_json::to_string(definition);
    written.unwrap_or_else(|error| panic!("{definition:?} is not written: {error}"))
}
