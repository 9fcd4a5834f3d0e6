import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { readQuickSearch } from '../filters/quick-search.ts'

export const SEARCH_FIELD_ID = 'quick-search'

export function QuickSearch() {
  const [text, setText] = useState('')
  const navigate = useNavigate()
  const search = (event: FormEvent) => {
    event.preventDefault()
    const target = readQuickSearch(text)
    if (target === undefined) return
    setText('')
    if (target.screen === 'transaction') void navigate({ to: '/tx/$gid', params: { gid: target.gid } })
    else void navigate({ to: '/list', search: target.search })
  }
  return (
    <search>
      <form onSubmit={search}>
        <input
          id={SEARCH_FIELD_ID}
          type="search"
          value={text}
          onChange={(event) => setText(event.target.value)}
          placeholder="gid, gid* or key:value"
          aria-label="Find by gid, by the beginning of a gid with *, or by a tag key:value"
          title="Find by gid, by the beginning of a gid with *, or by a tag key:value ( / )"
          spellCheck={false}
          autoComplete="off"
        />
      </form>
    </search>
  )
}
