#!/bin/sh
# enter-root.sh ROOT [SOURCE TARGET rw|ro]… -- USER GROUP FOLDER NAME=VALUE… COMMAND…
# This script runs the command as PID 1 in the mount and process namespaces that the caller has created, with a read-only
# root, the given mounts, and no capability.
set -eu
root=$1
shift
mount --rbind "$root" "$root"
while [ "$1" != -- ]; do
  mount --bind "$1" "$root$2"
  [ "$3" = rw ] || mount -o remount,bind,ro "$root$2"
  shift 3
done
shift
user=$1 group=$2 folder=$3
shift 3
mount -t proc proc "$root/proc"
mount --bind /dev "$root/dev"
mount -o remount,bind,ro "$root"
# When the user changes, the kernel forgets to signal the parent's death, so setpriv requests it again.
exec chroot "$root" /usr/bin/setpriv --pdeathsig KILL --reuid "$user" --regid "$group" --clear-groups --no-new-privs \
  --inh-caps=-all --bounding-set=-all /usr/bin/env -i -C "$folder" "$@"
