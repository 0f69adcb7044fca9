import { writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import vm from 'node:vm';

// For `node --import`: writes the loaded modules when the program ends, one URL or builtin a line, and the classes of
// Intl that it used, whose tables take milliseconds to load.

const loaded = new Set<string>();
registerHooks({
  load(url, context, next) {
    loaded.add(url);
    return next(url, context);
  },
});
// Built programs run their own files as scripts.
vm.Script = new Proxy(vm.Script, {
  construct(target, values: [string, { filename: string }]) {
    loaded.add(pathToFileURL(values[1].filename).href);
    return Reflect.construct(target, values);
  },
});
for (const name of ['Collator', 'DateTimeFormat', 'DisplayNames', 'Segmenter'] as const) {
  const construct = (target: (typeof Intl)[typeof name], values: unknown[]): object => {
    loaded.add(`Intl.${name}`);
    return Reflect.construct(target, values);
  };
  Object.assign(Intl, { [name]: new Proxy(Intl[name], { construct }) });
}
process.on('exit', () => {
  // Every loaded internal module of Node: `NativeModule internal/deps/undici/undici`.
  const { moduleLoadList } = process as unknown as { moduleLoadList: string[] };
  writeFileSync(process.env.SVC_TEST_LOADED ?? '', [...loaded, ...moduleLoadList].join('\n'));
});
