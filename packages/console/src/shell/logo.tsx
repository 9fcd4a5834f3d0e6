/** Steps forward, and the same steps back. */
export function Logo() {
  return (
    <svg viewBox="0 0 24 24" width="22" height="22" aria-hidden="true" className="logo">
      <path className="logo-forward" d="M2 12h5V8h5V4h9" />
      <path className="logo-back" d="M21 20h-9v-4H7v-0" />
    </svg>
  )
}
