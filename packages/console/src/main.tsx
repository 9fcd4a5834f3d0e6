import './style/tokens.css'
import './style/base.css'
import './style/shell.css'
import './style/parts.css'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { watchAttendance } from './api/attendance.ts'
import { App } from './app.tsx'
import { readPreferences } from './parts/preferences.ts'
import { applyTheme } from './parts/theme.ts'

applyTheme(readPreferences().theme)
watchAttendance(document)
const root = document.getElementById('root')
if (root !== null) {
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  )
}
