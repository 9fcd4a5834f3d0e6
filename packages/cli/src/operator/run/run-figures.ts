import { cleanJson } from '../print/clean-text.ts'
import { writeNames, writeOverview, writeProblems, writeServices } from '../print/write-figures.ts'
import { writePanel, writePanels } from '../print/write-panel.ts'
import type { OperatorContext } from './operator-context.ts'
import { printRows } from './print-rows.ts'

export async function runProblems(context: OperatorContext): Promise<void> {
  const { line, operator, print, signal } = context
  const view = await operator.problems({ signal })
  if (line.output !== 'table') printRows(context, view.items, view)
  else for (const text of writeProblems(view, operator.now())) print(text)
}

export async function runServices(context: OperatorContext): Promise<void> {
  const { line, operator, print, signal } = context
  const view = await operator.services({ signal })
  if (line.output !== 'table') printRows(context, view.items, view)
  else for (const text of writeServices(view)) print(text)
}

export async function runOverview({ line, operator, print, signal }: OperatorContext): Promise<void> {
  const view = await operator.overview({ signal })
  if (line.output === 'json') {
    print(cleanJson(view, 2))
    return
  }
  const { items } = await operator.problems({ signal })
  for (const text of writeOverview(view, items, operator.now())) print(text)
}

export async function runNames(context: OperatorContext): Promise<void> {
  const { line, operator, print, signal } = context
  const view = await operator.names({ signal })
  if (line.output !== 'table') printRows(context, view.items, view)
  else for (const text of writeNames(view)) print(text)
}

export async function runPanels(context: OperatorContext): Promise<void> {
  const { line, operator, print, signal } = context
  const view = await operator.panels({ signal })
  if (line.output !== 'table') printRows(context, view.items, view)
  else for (const text of writePanels(view)) print(text)
}

export async function runPanel(context: OperatorContext): Promise<void> {
  const { line, operator, print, signal } = context
  const [id = ''] = line.places
  const view = await operator.panel(id, { signal })
  if (line.output !== 'table') printRows(context, view.rows, view)
  else for (const text of writePanel(view)) print(text)
}
