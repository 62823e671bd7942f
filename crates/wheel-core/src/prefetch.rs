//! A hint to the processor: this memory is needed soon.

/// Brings the first line of `item` near, where the processor can be told so.
#[inline]
pub(crate) fn prefetch<T>(item: &T) {
    #[cfg(all(target_arch = "x86_64", not(wheel_model)))]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let address = std::ptr::from_ref(item).cast::<i8>();
        // SAFETY: a prefetch has no effect but on the cache, whatever the address. [U1]
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address) };
    }
    #[cfg(not(all(target_arch = "x86_64", not(wheel_model))))]
    let _ = item;
}
