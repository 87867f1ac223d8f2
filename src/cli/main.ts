#!/usr/bin/env node
import { createProcessIo } from './process-io.ts'
import { runCli } from './run-cli.ts'

/** How long something that was left behind, such as a request to a server that is away, may hold it up. */
const LINGER_MS = 500

process.exitCode = await runCli(process.argv.slice(2), createProcessIo())
setTimeout(() => process.exit(), LINGER_MS).unref()
