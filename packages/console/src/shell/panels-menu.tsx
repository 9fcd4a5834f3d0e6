import { useQuery } from '@tanstack/react-query'
import { Link, useMatchRoute } from '@tanstack/react-router'
import { useId, useRef } from 'react'
import { panelsQuery } from '../api/queries.ts'

/** Leads to the tables of what the server has beside transactions. Where it has none, there is no menu. */
export function PanelsMenu() {
  const id = useId()
  const list = useRef<HTMLDivElement>(null)
  const { data } = useQuery(panelsQuery)
  const isHere = useMatchRoute()({ to: '/panels/$id' }) !== false
  const items = data?.items ?? []
  if (items.length === 0) return null
  return (
    <span className="menu nav-menu">
      <button type="button" popoverTarget={id} className="plain" data-here={isHere}>
        Panels ▾
      </button>
      <div id={id} ref={list} popover="auto">
        {items.map((each) => (
          <Link
            key={each.id}
            to="/panels/$id"
            params={{ id: each.id }}
            onClick={() => list.current?.hidePopover()}
          >
            {each.title}
          </Link>
        ))}
      </div>
    </span>
  )
}
