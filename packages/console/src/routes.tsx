import {
  createHashHistory,
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
} from '@tanstack/react-router'
import { readListFilter, type SearchText, writeListFilter } from './filters/list-filter.ts'
import { parseSearch, stringifySearch } from './filters/search-text.ts'
import { Lost, ScreenFailed } from './parts/lost.tsx'
import { Shell } from './shell/shell.tsx'

/** The words that an address may have after its `?`, on a screen that reads the given ones. */
function keepTexts(...names: readonly string[]) {
  return (search: Record<string, unknown>): Record<string, string> =>
    Object.fromEntries(
      names.flatMap((name) => (typeof search[name] === 'string' ? [[name, search[name]] as const] : [])),
    )
}

const root = createRootRoute({ component: Shell, notFoundComponent: Lost, errorComponent: ScreenFailed })

const overview = createRoute({
  getParentRoute: () => root,
  path: '/',
  component: lazyRouteComponent(() => import('./screens/overview/overview.tsx'), 'Overview'),
})

const list = createRoute({
  getParentRoute: () => root,
  path: '/list',
  validateSearch: (search: Record<string, unknown>): SearchText => writeListFilter(readListFilter(search)),
  component: lazyRouteComponent(() => import('./screens/list/list.tsx'), 'List'),
})

const transaction = createRoute({
  getParentRoute: () => root,
  path: '/tx/$gid',
  validateSearch: keepTexts('op', 'tab', 'compare', 'problem'),
  component: lazyRouteComponent(() => import('./screens/transaction/transaction.tsx'), 'Transaction'),
})

const problems = createRoute({
  getParentRoute: () => root,
  path: '/problems',
  validateSearch: keepTexts('tab', 'problem'),
  component: lazyRouteComponent(() => import('./screens/problems/problems.tsx'), 'Problems'),
})

const bulkList = createRoute({
  getParentRoute: () => root,
  path: '/bulk',
  component: lazyRouteComponent(() => import('./screens/bulk/bulk-list.tsx'), 'BulkList'),
})

const bulkJob = createRoute({
  getParentRoute: () => root,
  path: '/bulk/$id',
  component: lazyRouteComponent(() => import('./screens/bulk/bulk-job.tsx'), 'BulkJob'),
})

const services = createRoute({
  getParentRoute: () => root,
  path: '/services',
  validateSearch: keepTexts('service'),
  component: lazyRouteComponent(() => import('./screens/services/services.tsx'), 'Services'),
})

const names = createRoute({
  getParentRoute: () => root,
  path: '/names',
  component: lazyRouteComponent(() => import('./screens/names/names.tsx'), 'Names'),
})

const panel = createRoute({
  getParentRoute: () => root,
  path: '/panels/$id',
  component: lazyRouteComponent(() => import('./screens/panels/panel.tsx'), 'Panel'),
})

const playground = createRoute({
  getParentRoute: () => root,
  path: '/new',
  validateSearch: keepTexts('from', 'kind'),
  component: lazyRouteComponent(() => import('./screens/playground/playground.tsx'), 'Playground'),
})

export const router = createRouter({
  routeTree: root.addChildren([
    overview,
    list,
    transaction,
    problems,
    services,
    names,
    panel,
    bulkList,
    bulkJob,
    playground,
  ]),
  history: createHashHistory(),
  parseSearch,
  stringifySearch: (fields) => stringifySearch(fields as Record<string, string | string[]>),
  // A screen that has not been opened yet is small, and a pointer passes over many links.
  defaultPreload: false,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
