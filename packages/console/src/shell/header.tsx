import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { problemsQuery } from '../api/queries.ts'
import { logOut, sessionKey, sessionQuery } from '../api/session.ts'
import { LiveMark } from '../parts/live-mark.tsx'
import { readPreferences, writePreferences } from '../parts/preferences.ts'
import { applyTheme, nextTheme } from '../parts/theme.ts'
import { Logo } from './logo.tsx'
import { PanelsMenu } from './panels-menu.tsx'
import { QuickSearch } from './quick-search.tsx'

const SCREENS = [
  { to: '/', words: 'Overview' },
  { to: '/list', words: 'Transactions' },
  { to: '/problems', words: 'Problems' },
  { to: '/services', words: 'Services' },
  { to: '/bulk', words: 'Bulk' },
  { to: '/new', words: 'Playground' },
] as const

export function Header() {
  return (
    <header className="header">
      <Link to="/" className="brand" aria-label="Counterstep, overview">
        <Logo />
        <span>Counterstep</span>
      </Link>
      <nav aria-label="Screens">
        {SCREENS.map(({ to, words }) => (
          <Link key={to} to={to} activeOptions={{ exact: to === '/', includeSearch: false }}>
            {words}
            {to === '/problems' ? <ProblemCount /> : null}
          </Link>
        ))}
        <PanelsMenu />
      </nav>
      <div className="header-end">
        <QuickSearch />
        <LiveMark />
        <ThemeSwitch />
        <Person />
      </div>
    </header>
  )
}

function ProblemCount() {
  const { data } = useQuery(problemsQuery)
  const attention = data?.items.reduce((sum, each) => sum + each.attention, 0) ?? 0
  if (attention === 0) return null
  return (
    <span className="count" title={`${attention} need a person`}>
      <span className="unseen">, need a person: </span>
      {attention.toLocaleString()}
    </span>
  )
}

function ThemeSwitch() {
  const [theme, setTheme] = useState(readPreferences().theme)
  const next = nextTheme(theme)
  const change = () => {
    applyTheme(next)
    writePreferences({ theme: next })
    setTheme(next)
  }
  return (
    <button type="button" className="icon" onClick={change} title={`Use the ${next} colours`}>
      <span aria-hidden="true">◐</span>
      <span className="unseen">Use the {next} colours</span>
    </button>
  )
}

/** On a server without keys there is no person to name and no session to end. */
function Person() {
  const { data: session } = useQuery(sessionQuery)
  const client = useQueryClient()
  if (session == null || session.isOpen) return null
  const leave = async () => {
    try {
      await logOut()
    } finally {
      // The screens hear of it only from the entry that they look at, so that one stays and all others go.
      client.setQueryData(sessionKey, null)
      client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== sessionKey[0] })
    }
  }
  return (
    <span className="person">
      <span title={`key ${session.keyName ?? ''}`}>{session.person ?? session.keyName}</span>
      <button type="button" className="small" onClick={() => void leave()}>
        Log out
      </button>
    </span>
  )
}
