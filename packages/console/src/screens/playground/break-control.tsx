import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { BREAK_WORDS, BREAKS, type Break, breakUrl, devKey, devQuery } from '../../api/dev.ts'

/** Breaks the next call to a URL. It is there only on a server that runs for development. */
export function BreakControl({ url }: { readonly url: string }) {
  const client = useQueryClient()
  const { data: dev } = useQuery(devQuery)
  const breaking = useMutation({
    mutationFn: (how: Break) => breakUrl({ url, how, next: 1 }),
    onSuccess: (view) => client.setQueryData(devKey, view),
  })
  const broken = dev?.breaks.find((each) => each.url === url)
  return (
    <label className="break" data-broken={broken !== undefined}>
      <span className="unseen">Break {url}</span>
      <select
        value={broken?.how ?? ''}
        disabled={url === '' || breaking.isPending}
        title={breaking.error?.message ?? 'What the next call to this URL meets'}
        onChange={(event) => {
          const how = BREAKS.find((each) => each === event.target.value)
          if (how !== undefined) breaking.mutate(how)
        }}
      >
        <option value="">Break ▾</option>
        {BREAKS.map((how) => (
          <option key={how} value={how}>
            {BREAK_WORDS[how]}
          </option>
        ))}
      </select>
    </label>
  )
}
