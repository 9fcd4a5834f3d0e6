import { BREAK_WAYS, type Op } from '@counterstep/protocol'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { BREAK_WORDS, breakCalls, devKey, devQuery, findBreak } from '../../api/dev.ts'

interface BreakControlProps {
  readonly url: string
  readonly op: Op
}

/** Breaks the next call of an op to a URL. It is there only on a server that runs for development. */
export function BreakControl({ url, op }: BreakControlProps) {
  const client = useQueryClient()
  const { data: dev } = useQuery(devQuery)
  const broken = findBreak(dev, url, op)
  const breaking = useMutation({
    mutationFn: (text: string) => {
      const how = BREAK_WAYS.find((each) => each === text)
      return breakCalls({
        urlPrefix: url,
        op,
        next: how === undefined ? 0 : 1,
        how: how ?? broken?.how ?? 'answer-409',
      })
    },
    onSuccess: (view) => client.setQueryData(devKey, view),
  })
  return (
    <label className="break" data-broken={broken !== undefined}>
      <span className="unseen">The next call to {url}</span>
      <select
        value={broken?.how ?? ''}
        disabled={url === '' || breaking.isPending}
        title={breaking.error?.message ?? 'What the next call to this URL meets'}
        onChange={(event) => breaking.mutate(event.target.value)}
      >
        <option value="">{broken === undefined ? 'Break' : 'mend it'}</option>
        <optgroup label="The next call">
          {BREAK_WAYS.map((how) => (
            <option key={how} value={how}>
              {BREAK_WORDS[how]}
            </option>
          ))}
        </optgroup>
      </select>
    </label>
  )
}
