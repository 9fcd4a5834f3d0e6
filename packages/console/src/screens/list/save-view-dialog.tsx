import { isSavedViewName, SAVED_VIEW_NAME_LENGTH_MAX, SAVED_VIEW_NAME_RULE } from '@counterstep/protocol'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { saveView, viewsKey, viewsQuery } from '../../api/views.ts'
import type { ListFilter } from '../../filters/list-filter.ts'
import { toViewText } from '../../filters/views.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { ProblemText } from '../../parts/notice.tsx'

interface SaveViewProps {
  readonly filter: ListFilter
  readonly onClose: () => void
}

/** Gives the filter a name for all who use the console. */
export function SaveViewDialog({ filter, onClose }: SaveViewProps) {
  const [text, setText] = useState('')
  const name = text.trim()
  const client = useQueryClient()
  const { data } = useQuery(viewsQuery)
  const saving = useMutation({
    mutationFn: saveView,
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: viewsKey })
      onClose()
    },
  })
  const isReplaced = data?.items.some((each) => each.name === name) === true
  const send = (event: FormEvent) => {
    event.preventDefault()
    saving.mutate({ name, filter: toViewText(filter) })
  }
  return (
    <Dialog title="Save this view for all" onClose={onClose}>
      <form className="save-view" onSubmit={send}>
        <code>{toViewText(filter)}</code>
        <label>
          Name
          <input
            type="text"
            value={text}
            maxLength={SAVED_VIEW_NAME_LENGTH_MAX}
            autoComplete="off"
            onChange={(event) => setText(event.target.value)}
          />
        </label>
        {name !== '' && !isSavedViewName(name) ? <p className="warning">It {SAVED_VIEW_NAME_RULE}.</p> : null}
        {isReplaced ? <p className="warning">It replaces the view of this name.</p> : null}
        {saving.error === null ? null : <ProblemText error={saving.error} />}
        <div className="dialog-buttons">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="primary" disabled={!isSavedViewName(name) || saving.isPending}>
            Save
          </button>
        </div>
      </form>
    </Dialog>
  )
}
