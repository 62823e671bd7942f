//! Every committed input, replayed.

use std::fs;
use std::path::Path;

use wheel_fuzz::TARGETS;

/// Small enough to be read in a hex dump, when one fails.
const BYTES_MAX: usize = 200;
const FILES_MAX: usize = 99;

#[test]
fn every_input_of_the_corpus_passes() {
    for target in TARGETS {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("corpus")
            .join(target.name);
        let files = fs::read_dir(&folder);
        let files = files.unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        let mut count = 0;
        for file in files {
            let path = file.unwrap().path();
            println!("{}", path.display());
            let bytes = fs::read(&path).unwrap();
            assert!(
                bytes.len() <= BYTES_MAX,
                "{} bytes are too many",
                bytes.len()
            );
            (target.run)(&bytes);
            count += 1;
        }
        assert!(count > 0, "no input for {}", target.name);
        assert!(
            count <= FILES_MAX,
            "{count} inputs for {}: keep it small",
            target.name
        );
    }
}
