/** Terms of people who operate machines and services. As in `developing.ts`. */
export const OPERATIONS = `
kubernetes k8s control-plane etcd kubelet apiserver cluster
storage disk nvme ssd volume
maintenance drain planned window
load-balancer haproxy ingress nginx keepalived vrrp virtual-address
failover floating keepalived vrrp standby ha high-availability redundant ausfallsicherheit
name-resolution dns resolve resolver coredns lookup lookups bind namensauflosung
recover restore backup pgbackrest wal data-loss
database postgres postgresql pgbackrest mysql
ssl tls certificate certificates ca cert
expiry expire expires end ends renew validity
iac ansible terraform puppet chef pulumi
dns-record dns-records dns zone
on-call pagerduty duty incident responsible rota
host-key ssh-key host-certificate host-certificates ssh
server host machine hosts
log-entry log-entries lines journald journal syslog rsyslog
systemd service unit daemon journald
clock-synchronisation clock-sync ntp chrony time-server timesync
administrator administrators admin admins root sudo operator
yubikey hardware-key hardware-keys u2f fido security-key token
firewall iptables nft nftables ufw packet-filter rules
build-agent build-agents runner runners agent executor ci
build-machine runner ci agent
downtime maintenance planned outage unavailable
filesystem zfs btrfs ext4 xfs pool
remote-access vpn wireguard openvpn ipsec tunnel
tunnel vpn wireguard mtu
dashboard grafana kibana panel
outgoing relay sending mail smtp
smtp mail relay mx postfix
network-card nic driver ethernet igb interface netzwerkkarte 网卡
drive disk hdd ssd platte
mandatory-access-control selinux apparmor mac
ship deploy deployment deployments release
chart helm values template
monitoring-tool zabbix prometheus nagios モニタリング 監視
insufficient not-enough 不足 满 full
backup datensicherung sicherung 备份 バックアップ
special-character special-characters sonderzeichen colon
power-failure stromausfall notstrom generator ups
validity expiry expire gultigkeit 有效期 有効期限
jump-server bastion jump
full out-of-space no-space disk-full fills exhausted voll 满 不足 満杯
link-flap flaps disconnect connection-loss
failed-disk faulty-disk broken-disk replace-disk
freeze code-freeze deployment-freeze moratorium change-stop
oomkilled oom out-of-memory memory-limit 137
disk drive hdd ssd hard-disk festplatte platte 磁盘 硬盘 ディスク
full-disk enospc no-space-left
end-of-life eol outdated unsupported
`;
