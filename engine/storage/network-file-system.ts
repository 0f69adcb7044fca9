/** File systems with unreliable locks and WAL (magic numbers of statfs(2)). */
const NETWORK_FILE_SYSTEMS = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB2'],
  [0x5346414f, 'AFS'],
  [0x00c36400, 'Ceph'],
  [0x73757245, 'Coda'],
]);

/** Returns the name of a network file system by its type of statfs(2), null for a local one. */
export const findNetworkFileSystem = (type: number): string | null => NETWORK_FILE_SYSTEMS.get(type) ?? null;
