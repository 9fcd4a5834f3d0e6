export { type HotRoutes, serveHotRequests } from './serve-hot-requests.ts'
