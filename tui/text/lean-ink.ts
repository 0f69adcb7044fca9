import { registerHooks } from 'node:module';

const WIDTHS = new URL('./widths.js', import.meta.url).href;
const LINE_WIDTHS = new URL('./line-widths.js', import.meta.url).href;
const LINE_UPDATE = /\/ink\/build\/line-update\.js$/;

/**
 * Ink, with some of its imports led elsewhere. It takes one function, `throttle`, from `es-toolkit/compat`, which loads
 * 415 files for it: half of the time until the first frame. And it measures every text anew for every frame, a third
 * of the time of a frame: widths are remembered instead. Where it goes on writing in the middle of a line, only widths
 * that are sure count. The versions of both libraries are pinned with Ink's.
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
