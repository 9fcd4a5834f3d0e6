import type { Page } from 'playwright-core'

/** Counts the streams of events that a page has opened, and those of them that are still open. */
export interface WatchedStreams {
  readonly opened: number
  readonly open: number
}

/** Counts the streams of a page. Call it before the page is opened. */
export function watchStreams(page: Page): WatchedStreams {
  const counts = { opened: 0, open: 0 }
  const isStream = (url: string) => new URL(url).pathname.endsWith('/v1/live')
  page.on('request', (request) => {
    if (!isStream(request.url())) return
    counts.opened++
    counts.open++
  })
  const end = (request: { url(): string }) => {
    if (isStream(request.url())) counts.open--
  }
  page.on('requestfinished', end)
  page.on('requestfailed', end)
  return counts
}
