/** Whether a key belongs to a field, a dialog or the browser, and so is no shortcut. */
export function isTyping(event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return true
  const { target } = event
  if (!(target instanceof HTMLElement)) return false
  return target.closest('input:not([type=checkbox]), textarea, select, dialog') !== null
}
