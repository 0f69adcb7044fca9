#!/usr/bin/env node
// The entry point. Nothing is imported before the version is known to be enough: an older Node would fail with an
// error about something else.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);

if (major < 22 || (major === 22 && minor < 22)) {
  process.stderr.write(
    `error: svc needs Node 22.22 or later; this is Node ${process.versions.node}\nhint: install a newer Node and run svc with it\n`,
  );
  process.exitCode = 1;
} else {
  const { enableCompileCache } = await import('node:module');
  enableCompileCache();
  const { main } = await import('./main.ts');
  process.exitCode = await main(process.argv.slice(2));
}

export {};
