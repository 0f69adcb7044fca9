import { registerHooks } from 'node:module';

const WIDTHS = new URL('./widths.js', import.meta.url).href;
const LINE_WIDTHS = new URL('./line-widths.js', import.meta.url).href;
const LINE_UPDATE = /\/ink\/build\/line-update\.js$/;

/**
 * Redirects some imports of Ink; call it before Ink is loaded. Ink needs one function, `throttle`, of
 * `es-toolkit/compat`, which would load 415 files: 73 of the 326 ms of CPU that loading the dashboard takes. It also
 * measures every text for every frame, a third of a frame's time, so widths are remembered instead. Where it updates part
 * of a line, only sure widths count. Pinning Ink pins the versions of both libraries.
 */
export function loadInkLean(): void {
  registerHooks({
    resolve(specifier, context, next) {
      if (specifier === 'string-width' && context.parentURL !== WIDTHS)
        return next(LINE_UPDATE.test(context.parentURL ?? '') ? LINE_WIDTHS : WIDTHS, context);
      const resolved = next(specifier, context);
      if (specifier !== 'es-toolkit/compat') return resolved;
      return {
        ...resolved,
        url: resolved.url.replace(/index\.m?js$/, (file) => `function/throttle.${file.split('.')[1]}`),
      };
    },
  });
}
