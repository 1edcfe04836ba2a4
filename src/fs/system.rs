//! What kind of file system a path lies on, and how much room there is.

use std::path::Path;

/// Bytes that may still be written where `path` lies; `None` when that cannot be told.
pub fn free_bytes(path: &Path) -> Option<u64> {
    let stat = rustix::fs::statvfs(path).ok()?;
    Some(stat.f_bavail.saturating_mul(stat.f_frsize))
}

/// Names the network file system that `path` lies on; `None` for a local one, or where that cannot be told.
///
/// SQLite's log needs memory shared between processes, and one drainer at a time needs locks that hold: neither is sure across a network.
pub fn network(path: &Path) -> Option<&'static str> {
    /// Numbers of Linux (`statfs(2)`).
    const KINDS: [(u64, &str); 10] = [
        (0x6969, "NFS"),
        (0x517b, "SMB"),
        (0xff53_4d42, "CIFS"),
        (0xfe53_4d42, "SMB2"),
        (0x5346_414f, "AFS"),
        (0x00c3_6400, "Ceph"),
        (0x0102_1997, "9P"),
        (0x0bd0_0bd0, "Lustre"),
        (0x6573_5546, "FUSE"),
        (0x4750_4653, "GPFS"),
    ];
    let kind = file_system(path)?;
    KINDS.iter().find(|(number, _)| *number == kind).map(|(_, name)| *name)
}

#[cfg(target_os = "linux")]
fn file_system(path: &Path) -> Option<u64> {
    #[cfg(feature = "failpoints")]
    if let Some(kind) = std::env::var("STEP_STATFS").ok().and_then(|kind| kind.parse().ok()) {
        return Some(kind);
    }
    let kind = rustix::fs::statfs(path).ok()?.f_type;
    // Signed or not, 32 bits or 64, by platform; the numbers have 32.
    Some(u64::try_from(i128::from(kind) & 0xffff_ffff).unwrap_or(0))
}

#[cfg(not(target_os = "linux"))]
fn file_system(_path: &Path) -> Option<u64> {
    None
}

/// What some network file systems do; never here, unless a test says so.
pub fn grants_every_lock() -> bool {
    cfg!(feature = "failpoints") && std::env::var_os("STEP_LOCKS").is_some_and(|v| v == "granted")
}
