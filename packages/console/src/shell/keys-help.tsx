import { useState } from 'react'
import { Dialog } from '../parts/dialog.tsx'
import { readPreferences, writePreferences } from '../parts/preferences.ts'

const KEYS = [
  ['/', 'search'],
  ['j  k', 'next and previous row'],
  ['x', 'select the row'],
  ['Enter', 'open the row'],
  ['r', 'retry: the row, or the open transaction'],
  ['n', 'open the next transaction with the same problem'],
  ['g o', 'go to the overview'],
  ['g l', 'go to the transactions'],
  ['g p', 'go to the problems'],
  ['g s', 'go to the services'],
  ['g b', 'go to the bulk jobs'],
  ['g n', 'go to the playground'],
  ['?', 'show this'],
] as const

export function KeysHelp({ onClose }: { readonly onClose: () => void }) {
  const [isOn, setOn] = useState(readPreferences().keys)
  const change = (keys: boolean) => {
    writePreferences({ keys })
    setOn(keys)
  }
  return (
    <Dialog title="Keys" onClose={onClose}>
      <dl className="keys">
        {KEYS.map(([key, words]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{words}</dd>
          </div>
        ))}
      </dl>
      <label className="check">
        <input type="checkbox" checked={isOn} onChange={(event) => change(event.target.checked)} />
        Keys act as shortcuts
      </label>
    </Dialog>
  )
}
