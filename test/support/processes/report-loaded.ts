import { writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

// For `node --import`: writes the loaded modules when the program ends, one URL or builtin a line.

const urls = new Set<string>();
registerHooks({
  load(url, context, next) {
    urls.add(url);
    return next(url, context);
  },
});
process.on('exit', () => {
  // Every loaded internal module of Node: `NativeModule internal/deps/undici/undici`.
  const { moduleLoadList } = process as unknown as { moduleLoadList: string[] };
  writeFileSync(process.env.SVC_TEST_LOADED ?? '', [...urls, ...moduleLoadList].join('\n'));
});
