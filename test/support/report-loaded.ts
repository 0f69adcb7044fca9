import { writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

// For `node --import`: writes what the program has loaded, one address or builtin a line, when it ends.

const urls = new Set<string>();
registerHooks({
  load(url, context, next) {
    urls.add(url);
    return next(url, context);
  },
});
process.on('exit', () => {
  // Every part of Node that was loaded, also by others of its parts: `NativeModule internal/deps/undici/undici`.
  const { moduleLoadList } = process as unknown as { moduleLoadList: string[] };
  writeFileSync(process.env.SVC_TEST_LOADED ?? '', [...urls, ...moduleLoadList].join('\n'));
});
