import type { OpRequestView, TransactionRequestView } from '@counterstep/protocol'
import { cleanLine, cleanText } from './clean-text.ts'

/** Writes what each call sends. */
export function writeRequest({ ops }: TransactionRequestView): readonly string[] {
  return ops.flatMap((op, at) => [...(at === 0 ? [] : ['']), ...writeOp(op)])
}

function writeOp({
  branchId,
  op,
  method,
  url,
  headers,
  contentType,
  timeoutMs,
  body,
  edited,
  short,
}: OpRequestView): readonly string[] {
  const name = cleanLine(`${branchId}.${op}`)
  return [
    `${name}${edited === true ? ' ✎ edited' : ''}${short === true ? ' (in short: no room for its body and its headers)' : ''}`,
    `  ${cleanLine(`${method} ${url}`)}  (time-out ${cleanLine(String(timeoutMs))} ms)`,
    ...Object.entries({ ...headers, ...(body === '' ? {} : { 'content-type': contentType }) }).map(
      ([header, value]) => `  ${cleanLine(`${header}: ${value}`)}`,
    ),
    ...(body === ''
      ? []
      : [
          '',
          ...cleanText(body)
            .split('\n')
            .map((line) => `  ${line}`),
        ]),
  ]
}
