import { consoleOperation } from './console/console-routes.ts'
import {
  endSessionOperation,
  getSessionOperation,
  openSessionOperation,
} from './console/session-operations.ts'
import { breakOperation, devOperation } from './dev/dev-routes.ts'
import type { Operation } from './openapi/operation.ts'
import { abortOperation } from './routes/abort.ts'
import {
  bulkJobOperations,
  listBulkOperation,
  showBulkOperation,
  startBulkOperation,
} from './routes/bulk/bulk-operations.ts'
import { docsOperation } from './routes/docs.ts'
import { editOpOperation } from './routes/edit-op.ts'
import { getTransactionOperation } from './routes/get-transaction.ts'
import { listTransactionsOperation } from './routes/list-transactions.ts'
import { liveOperation } from './routes/live.ts'
import { liveStreamOperation } from './routes/live-stream.ts'
import { metricsOperation } from './routes/metrics.ts'
import { namesOperation } from './routes/names.ts'
import { openApiOperation } from './routes/open-api.ts'
import { overviewOperation } from './routes/overview.ts'
import { panelOperation, panelsOperation } from './routes/panels.ts'
import { pauseOperation } from './routes/pause.ts'
import { previewOperation } from './routes/preview.ts'
import { problemsOperation } from './routes/problems.ts'
import { readyOperation } from './routes/ready.ts'
import { registerBranchOperation } from './routes/register-branch.ts'
import { resumeOperation } from './routes/resume.ts'
import { retryOperation } from './routes/retry.ts'
import { retryOpOperation } from './routes/retry-op.ts'
import { rootOperation } from './routes/root.ts'
import { servicesOperation } from './routes/services.ts'
import { showRequestOperation } from './routes/show-request.ts'
import { signalOperation } from './routes/signal.ts'
import { skipOpOperation } from './routes/skip-op.ts'
import { stopOperation } from './routes/stop.ts'
import { submitOperation } from './routes/submit.ts'
import { submitPreparedOperation } from './routes/submit-prepared.ts'

import { listViewsOperation, removeViewOperation, saveViewOperation } from './routes/views/view-operations.ts'

/** The OpenAPI document shows these operations in this order. A test compares them with the routes that fastify has. */
export const OPERATIONS: readonly Operation[] = [
  submitOperation,
  listTransactionsOperation,
  getTransactionOperation,
  registerBranchOperation,
  submitPreparedOperation,
  signalOperation,
  abortOperation,
  retryOperation,
  stopOperation,
  problemsOperation,
  pauseOperation,
  resumeOperation,
  retryOpOperation,
  skipOpOperation,
  editOpOperation,
  previewOperation,
  showRequestOperation,
  getSessionOperation,
  openSessionOperation,
  endSessionOperation,
  overviewOperation,
  servicesOperation,
  namesOperation,
  panelsOperation,
  panelOperation,
  listViewsOperation,
  saveViewOperation,
  removeViewOperation,
  liveStreamOperation,
  startBulkOperation,
  listBulkOperation,
  showBulkOperation,
  ...bulkJobOperations,
  rootOperation,
  liveOperation,
  readyOperation,
  metricsOperation,
  openApiOperation,
  docsOperation,
  consoleOperation,
  devOperation,
  breakOperation,
]

/** These are there only where bulk jobs are worked at. */
export const BULK_OPERATIONS: ReadonlySet<Operation> = new Set([
  startBulkOperation,
  listBulkOperation,
  showBulkOperation,
  ...bulkJobOperations,
])

/** These are there only where a node keeps running. */
export const VIEW_OPERATIONS: ReadonlySet<Operation> = new Set([
  listViewsOperation,
  saveViewOperation,
  removeViewOperation,
])

/** These are there only where the console is. */
export const CONSOLE_OPERATIONS: ReadonlySet<Operation> = new Set([
  openSessionOperation,
  endSessionOperation,
  consoleOperation,
])

/** These are there only in `counterstep dev`. */
export const DEV_OPERATIONS: ReadonlySet<Operation> = new Set([devOperation, breakOperation])
