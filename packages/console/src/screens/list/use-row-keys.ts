import { type RefObject, useEffect } from 'react'
import { isTyping } from '../../parts/is-typing.ts'
import { readPreferences } from '../../parts/preferences.ts'

/** `j` and `k` move the focus over the rows' links, so that Enter opens one; `x` selects the row. */
export function useRowKeys(body: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (isTyping(event) || !readPreferences().keys) return
      const links = [...(body.current?.querySelectorAll<HTMLElement>('[data-row-link]') ?? [])]
      const current = links.findIndex((link) => link.closest('tr')?.contains(document.activeElement) === true)
      if (event.key === 'j') links[Math.min(current + 1, links.length - 1)]?.focus()
      else if (event.key === 'k') links[Math.max(current - 1, 0)]?.focus()
      else if (event.key === 'x') links[current]?.closest('tr')?.querySelector('input')?.click()
    }
    document.addEventListener('keydown', press)
    return () => document.removeEventListener('keydown', press)
  }, [body])
}
