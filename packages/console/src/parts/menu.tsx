import { type KeyboardEvent, type ReactNode, type RefObject, useId, useRef } from 'react'

interface MenuProps {
  readonly words: string
  /** The class of the menu. */
  readonly name?: string
  /** The class of its button. */
  readonly look?: string
  /** The screen that is shown is one of its entries. */
  readonly isHere?: boolean
  /** `list` has what the menu shows: hide it when an entry is chosen, and give it the focus when the entry that had it goes. */
  readonly children: (list: RefObject<HTMLDivElement | null>) => ReactNode
}

/**
 * The browser's own popover: Escape and a click elsewhere close it, and the focus goes back to its button. The arrow
 * keys, Home and End move over its entries, and an arrow on the button opens it.
 */
export function Menu({ words, name, look, isHere, children }: MenuProps) {
  const id = useId()
  const button = useRef<HTMLButtonElement>(null)
  const list = useRef<HTMLDivElement>(null)
  const press = (event: KeyboardEvent<HTMLElement>) => {
    const { current } = list
    if (current === null || !(event.key in PLACES) || event.ctrlKey || event.altKey || event.metaKey) return
    const isOpen = current.matches(':popover-open')
    if (!isOpen && !event.key.startsWith('Arrow')) return
    event.preventDefault()
    // A menu that its button opens is placed at it.
    if (!isOpen) button.current?.click()
    focusEntry(current, event.key as keyof typeof PLACES)
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys come from the button and the entries within.
    <span className={`menu ${name ?? ''}`} onKeyDown={press}>
      <button ref={button} type="button" popoverTarget={id} className={look} data-here={isHere}>
        {words} ▾
      </button>
      <div id={id} ref={list} popover="auto" tabIndex={-1}>
        {children(list)}
      </div>
    </span>
  )
}

/** Finds the index of the entry that a key leads to. Without the focus on one of them, the current index is -1. */
const PLACES = {
  ArrowDown: (current: number, count: number) => (current + 1) % count,
  ArrowUp: (current: number, count: number) => (Math.max(current, 0) + count - 1) % count,
  Home: () => 0,
  End: (_current: number, count: number) => count - 1,
} as const

function focusEntry(list: HTMLElement, key: keyof typeof PLACES): void {
  const entries = [...list.querySelectorAll<HTMLElement>('a[href], button:enabled')]
  const current = entries.findIndex((entry) => entry === document.activeElement)
  entries[PLACES[key](current, entries.length)]?.focus()
}
