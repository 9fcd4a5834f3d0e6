import { useQuery } from '@tanstack/react-query'
import { Link, useMatchRoute } from '@tanstack/react-router'
import { panelsQuery } from '../api/queries.ts'
import { Menu } from '../parts/menu.tsx'

/** Leads to the tables of what the server has beside transactions. Where it has none, there is no menu. */
export function PanelsMenu() {
  const { data } = useQuery(panelsQuery)
  const isHere = useMatchRoute()({ to: '/panels/$id' }) !== false
  const items = data?.items ?? []
  if (items.length === 0) return null
  return (
    <Menu words="Panels" name="nav-menu" look="plain" isHere={isHere}>
      {(list) =>
        items.map((each) => (
          <Link
            key={each.id}
            to="/panels/$id"
            params={{ id: each.id }}
            onClick={() => list.current?.hidePopover()}
          >
            {each.title}
          </Link>
        ))
      }
    </Menu>
  )
}
