import { registerHooks } from 'node:module';

/**
 * Ink takes one function, `throttle`, from `es-toolkit/compat`, which loads 415 files for it: half of the time until
 * the first frame. Its import is led to the file of that function. The library's version is pinned with Ink's.
 */
export function loadInkLean(): void {
  registerHooks({
    resolve(specifier, context, next) {
      const resolved = next(specifier, context);
      if (specifier !== 'es-toolkit/compat') return resolved;
      return {
        ...resolved,
        url: resolved.url.replace(/index\.m?js$/, (file) => `function/throttle.${file.split('.')[1]}`),
      };
    },
  });
}
