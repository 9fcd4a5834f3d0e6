import { API_URL } from '../api/api-url.ts'
import { toCommandPath } from '../api/commands.ts'
import { CopyButton } from '../parts/copy-button.tsx'
import { toCurl } from '../parts/to-curl.ts'
import { toCommandLine } from './command-line.ts'
import type { CommandBody, CommandTarget } from './command-target.ts'

export function CopyAs({ target, body }: { readonly target: CommandTarget; readonly body: CommandBody }) {
  const url = new URL(toCommandPath(target), API_URL).href
  return (
    <>
      <CopyButton text={toCurl({ url, method: 'POST', body })} label="as curl" />
      <CopyButton text={toCommandLine(target, body)} label="as CLI" />
    </>
  )
}
