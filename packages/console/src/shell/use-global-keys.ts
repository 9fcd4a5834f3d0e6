import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { isTyping } from '../parts/is-typing.ts'
import { readPreferences } from '../parts/preferences.ts'
import { SEARCH_FIELD_ID } from './quick-search.tsx'

const SCREENS = { o: '/', l: '/list', p: '/problems', s: '/services', b: '/bulk', n: '/new' } as const
/** A second key that comes later than this belongs to no `g`. */
const PAIR_MS_MAX = 1_000

/** `/` searches, `g` and a letter goes to a screen, `?` shows all keys. */
export function useGlobalKeys(showHelp: () => void): void {
  const navigate = useNavigate()
  const goneAt = useRef(Number.NEGATIVE_INFINITY)
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (isTyping(event) || !readPreferences().keys) return
      const isPair = event.timeStamp - goneAt.current < PAIR_MS_MAX
      goneAt.current = event.key === 'g' ? event.timeStamp : Number.NEGATIVE_INFINITY
      if (isPair && event.key in SCREENS) {
        event.preventDefault()
        void navigate({ to: SCREENS[event.key as keyof typeof SCREENS] })
      } else if (event.key === '/') {
        event.preventDefault()
        document.getElementById(SEARCH_FIELD_ID)?.focus()
      } else if (event.key === '?') showHelp()
    }
    document.addEventListener('keydown', press)
    return () => document.removeEventListener('keydown', press)
  }, [navigate, showHelp])
}
