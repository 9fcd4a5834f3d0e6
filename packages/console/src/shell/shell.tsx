import { Outlet } from '@tanstack/react-router'
import { useState } from 'react'
import { Header } from './header.tsx'
import { KeysHelp } from './keys-help.tsx'
import { useGlobalKeys } from './use-global-keys.ts'

/** The header, the keys and the frame stand around every screen. */
export function Shell() {
  const [isHelpShown, showHelp] = useState(false)
  useGlobalKeys(() => showHelp(true))
  return (
    <>
      <button type="button" className="skip" onClick={focusMain}>
        Skip to the content
      </button>
      <Header />
      <main className="page" id="main" tabIndex={-1}>
        <Outlet />
      </main>
      {isHelpShown ? <KeysHelp onClose={() => showHelp(false)} /> : null}
    </>
  )
}

/** The part of an address after `#` is the router's, so this is no link. */
function focusMain(): void {
  document.getElementById('main')?.focus()
}
