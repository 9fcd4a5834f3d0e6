import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type RefObject, useState } from 'react'
import { ApiError } from '../../api/client.ts'
import { mayDo } from '../../api/may-do.ts'
import { sessionQuery } from '../../api/session.ts'
import { removeView, viewsKey, viewsQuery } from '../../api/views.ts'
import { isEmptyFilter, type ListFilter, writeListFilter } from '../../filters/list-filter.ts'
import { BUILT_IN_VIEWS, readViewText } from '../../filters/views.ts'
import { Menu } from '../../parts/menu.tsx'
import { ProblemText } from '../../parts/notice.tsx'
import { SaveViewDialog } from './save-view-dialog.tsx'

/** The filters that a team looks at again and again: some are always there, the others it has saved itself. */
export function ViewsMenu({ filter }: { readonly filter: ListFilter }) {
  const [isSaving, save] = useState(false)
  const { data: session } = useQuery(sessionQuery)
  const maySave = mayDo(session, 'operate', 'admin')
  return (
    <>
      <Menu words="Views" name="views-menu" look="small">
        {(list) => (
          <>
            {BUILT_IN_VIEWS.map((view) => (
              <Link
                key={view.words}
                to="/list"
                search={writeListFilter(view.filter)}
                onClick={() => list.current?.hidePopover()}
              >
                {view.words}
              </Link>
            ))}
            <SavedViewLinks mayRemove={maySave} list={list} />
            <button
              type="button"
              className="plain"
              disabled={!maySave || isEmptyFilter(filter)}
              onClick={() => {
                list.current?.hidePopover()
                save(true)
              }}
            >
              Save this view…
              <span className="quiet">
                {maySave ? (isEmptyFilter(filter) ? 'choose a filter first' : '') : 'needs the scope operate'}
              </span>
            </button>
          </>
        )}
      </Menu>
      {isSaving ? <SaveViewDialog filter={filter} onClose={() => save(false)} /> : null}
    </>
  )
}

interface SavedLinksProps {
  readonly mayRemove: boolean
  readonly list: RefObject<HTMLDivElement | null>
}

function SavedViewLinks({ mayRemove, list }: SavedLinksProps) {
  const client = useQueryClient()
  const { data } = useQuery(viewsQuery)
  const removal = useMutation({
    mutationFn: removeView,
    onSuccess: (views) => client.setQueryData(viewsKey, views),
    onError: () => void client.invalidateQueries({ queryKey: viewsKey }),
    // The button that had the focus is gone.
    onSettled: () => list.current?.focus(),
  })
  const remove = (id: string) => {
    if (!removal.isPending) removal.mutate(id)
  }
  const items = data?.items ?? []
  return (
    <>
      {items.length === 0 ? null : (
        <ul aria-label="Saved views">
          {items.map(({ id, name, filter, by }) => (
            <li key={id}>
              <Link
                to="/list"
                search={readViewText(filter)}
                onClick={() => list.current?.hidePopover()}
                title={`${name}, saved by ${by.person ?? by.key?.name ?? by.via}`}
              >
                {name}
              </Link>
              {mayRemove ? (
                <button
                  type="button"
                  className="icon"
                  onClick={() => remove(id)}
                  aria-label={`Remove the view ${name}`}
                >
                  ×
                </button>
              ) : null}
            </li>
          ))}
        </ul>
      )}
      {removal.error === null || isGone(removal.error) ? null : <ProblemText error={removal.error} />}
    </>
  )
}

/** Another person has removed it meanwhile, which is as good. */
function isGone(error: Error): boolean {
  return error instanceof ApiError && error.code === 'SAGA_UNKNOWN_VIEW'
}
