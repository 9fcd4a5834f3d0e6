import { type FocusEvent, useState } from 'react'
import { type KeptItem, keepOrder } from './keep-order.ts'

/** Holds the order of a list while the pointer or the focus is in it. `hold` goes onto the list's element. */
export function useHeldOrder<Item>(newest: readonly Item[], readKey: (item: Item) => string) {
  const [held, setHeld] = useState<readonly Item[]>()
  const [isPointed, point] = useState(false)
  const [isFocused, focus] = useState(false)
  const shown: readonly KeptItem<Item>[] = keepOrder(held, newest, readKey)
  const keep = () => setHeld((before) => before ?? newest)
  const hold = {
    onPointerEnter: () => {
      point(true)
      keep()
    },
    onPointerLeave: () => {
      point(false)
      if (!isFocused) setHeld(undefined)
    },
    onFocus: () => {
      focus(true)
      keep()
    },
    onBlur: ({ currentTarget, relatedTarget }: FocusEvent) => {
      if (currentTarget.contains(relatedTarget)) return
      focus(false)
      if (!isPointed) setHeld(undefined)
    },
  }
  return { shown, hold }
}
