import { useState } from 'react'
import { API_URL } from '../../api/api-url.ts'
import { CopyButton } from '../../parts/copy-button.tsx'
import { toCurl } from '../../parts/to-curl.ts'
import type { Draft } from './draft.ts'
import { toSdkCode } from './to-sdk-code.ts'

interface CodeBoxProps {
  readonly text: string
  readonly fault: string | undefined
  readonly draft: Draft | undefined
  readonly onChange: (text: string) => void
}

const FORMS = ['JSON', 'curl', 'SDK'] as const
type Form = (typeof FORMS)[number]

/** The same transaction as the interface takes it, as a command line, and as a program. */
export function CodeBox({ text, fault, draft, onChange }: CodeBoxProps) {
  const [form, setForm] = useState<Form>('JSON')
  const shown = form === 'JSON' || draft === undefined ? text : writeAs(form, draft)
  return (
    <div className="code-box">
      <div className="code-head">
        <fieldset className="segments">
          <legend className="unseen">Shown as</legend>
          {FORMS.map((each) => (
            <button key={each} type="button" aria-pressed={form === each} onClick={() => setForm(each)}>
              {each}
            </button>
          ))}
        </fieldset>
        <CopyButton text={shown} label="Copy" />
      </div>
      {form === 'JSON' ? (
        <textarea
          aria-label="The transaction as JSON"
          value={text}
          spellCheck={false}
          onChange={(event) => onChange(event.target.value)}
        />
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area is reached by keyboard too.
        <pre tabIndex={0}>{shown}</pre>
      )}
      {fault === undefined ? null : (
        <p className="warning" role="alert">
          {fault}
        </p>
      )}
    </div>
  )
}

function writeAs(form: Form, draft: Draft): string {
  if (form === 'SDK') return toSdkCode(draft, new URL('..', API_URL).href.replace(/\/$/, ''))
  return toCurl({ url: new URL('transactions', API_URL).href, method: 'POST', body: draft })
}
