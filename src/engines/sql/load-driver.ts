import { createError } from '../../engine/errors/errors.ts'

/** Load a package that a user has to install; without it, say which. */
export async function loadDriver<Module>(
  name: string,
  load: () => Promise<Module>,
): Promise<Module> {
  try {
    return await load()
  } catch (cause) {
    const packages = name === 'kysely' ? name : `${name} kysely`
    throw createError(
      'LOCK_UNKNOWN_ENGINE',
      `this engine needs the package ${name}, which cannot be loaded: npm install ${packages}`,
      { cause, details: { package: name } },
    )
  }
}
