// A command that cannot be stopped politely: it appends the time of day to a file every few
// milliseconds, and notes the signals that it was sent. Its first line is its process id.
import { appendFileSync } from 'node:fs'

const [, , file] = process.argv
const note = (text) => appendFileSync(file, `${text}\n`)

note(process.pid)
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => note(signal))
setInterval(() => note(Date.now()), 5)
