import { join } from 'node:path';

/** Returns the files of the broker in a data folder. */
export const locateBrokerFiles = (data: string) => {
  const folder = join(data, 'fleet');
  return {
    folder,
    setting: join(folder, 'broker.json'),
    config: join(folder, 'nats.conf'),
    users: join(folder, 'users.conf'),
    certificate: join(folder, 'server.pem'),
    key: join(folder, 'server.key'),
    process: join(folder, 'process.json'),
    output: join(folder, 'nats.log'),
  };
};
