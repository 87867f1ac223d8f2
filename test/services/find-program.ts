import { findExecutable, findOnPath, type Program, type ProgramSources } from './program.ts'
import type { ServiceOptions } from './service.ts'
import { unpackProgram } from './unpack-program.ts'

export async function findProgram(
  sources: ProgramSources,
  options: Required<ServiceOptions>,
): Promise<Program> {
  const { name, folders = [], fromNpm, systemPackage, variable } = sources
  const found =
    findOnPath(name, options.environment) ??
    findExecutable(name, folders) ??
    (await fromNpm?.()) ??
    null
  if (found !== null) return { path: found, environment: {} }
  try {
    return await unpackProgram(sources, options)
  } catch (error) {
    const why = (error as Error).message
    throw new Error(
      `There is no ${name} to test against. Set ${variable} to the address of a server (compose.yaml ` +
        `has some), or install ${name} (in Debian: ${systemPackage}). ` +
        `It could not be unpacked from the system's packages: ${why}`,
      { cause: error },
    )
  }
}
