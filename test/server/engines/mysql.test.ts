import { MYSQL } from '../../engines/sql/test-servers.ts'
import { runServerTests } from './run-server-tests.ts'

runServerTests(MYSQL)
