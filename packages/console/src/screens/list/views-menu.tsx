import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useId, useRef, useState } from 'react'
import { mayDo } from '../../api/may-do.ts'
import { sessionQuery } from '../../api/session.ts'
import { removeView, viewsKey, viewsQuery } from '../../api/views.ts'
import { isEmptyFilter, type ListFilter, writeListFilter } from '../../filters/list-filter.ts'
import { BUILT_IN_VIEWS, readViewText } from '../../filters/views.ts'
import { SaveViewDialog } from './save-view-dialog.tsx'

/** The filters that a team looks at again and again: some are always there, the others it has saved itself. */
export function ViewsMenu({ filter }: { readonly filter: ListFilter }) {
  const id = useId()
  const list = useRef<HTMLDivElement>(null)
  const [isSaving, save] = useState(false)
  const { data: session } = useQuery(sessionQuery)
  const maySave = mayDo(session, 'operate', 'admin')
  const close = () => list.current?.hidePopover()
  return (
    <span className="menu views-menu">
      <button type="button" className="small" popoverTarget={id}>
        Views ▾
      </button>
      <div id={id} ref={list} popover="auto">
        {BUILT_IN_VIEWS.map((view) => (
          <Link key={view.words} to="/list" search={writeListFilter(view.filter)} onClick={close}>
            {view.words}
          </Link>
        ))}
        <SavedViewLinks mayRemove={maySave} onOpen={close} />
        <button
          type="button"
          className="plain"
          disabled={!maySave || isEmptyFilter(filter)}
          onClick={() => {
            close()
            save(true)
          }}
        >
          Save this view…
          <span className="quiet">
            {maySave ? (isEmptyFilter(filter) ? 'choose a filter first' : '') : 'needs the scope operate'}
          </span>
        </button>
      </div>
      {isSaving ? <SaveViewDialog filter={filter} onClose={() => save(false)} /> : null}
    </span>
  )
}

interface SavedLinksProps {
  readonly mayRemove: boolean
  readonly onOpen: () => void
}

function SavedViewLinks({ mayRemove, onOpen }: SavedLinksProps) {
  const client = useQueryClient()
  const { data } = useQuery(viewsQuery)
  const removal = useMutation({
    mutationFn: removeView,
    onSuccess: (views) => client.setQueryData(viewsKey, views),
    onError: () => void client.invalidateQueries({ queryKey: viewsKey }),
  })
  const items = data?.items ?? []
  if (items.length === 0) return null
  return (
    <ul aria-label="Saved views">
      {items.map(({ id, name, filter, by }) => (
        <li key={id}>
          <Link
            to="/list"
            search={readViewText(filter)}
            onClick={onOpen}
            title={`${name}, saved by ${by.person ?? by.key?.name ?? by.via}`}
          >
            {name}
          </Link>
          {mayRemove ? (
            <button
              type="button"
              className="icon"
              disabled={removal.isPending}
              onClick={() => removal.mutate(id)}
              aria-label={`Remove the view ${name}`}
            >
              ×
            </button>
          ) : null}
        </li>
      ))}
    </ul>
  )
}
