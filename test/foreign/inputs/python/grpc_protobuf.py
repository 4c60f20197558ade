import threading
from concurrent import futures

import grpc
from google.protobuf import descriptor_pb2, json_format, struct_pb2

s = struct_pb2.Struct()
s.update({"a": 1, "b": [1, 2, {"c": "x" * 50}], "d": None})
for i in range(200):
    s[f"k{i}"] = i
print(len(s.SerializeToString()), json_format.MessageToDict(s)["b"])
f = descriptor_pb2.FileDescriptorProto(name="n", package="p")
f.message_type.add(name="m").field.add(name="f", number=1)
print(descriptor_pb2.FileDescriptorProto.FromString(f.SerializeToString()) == f)


class Echo(grpc.GenericRpcHandler):
    def service(self, details):
        if details.method == "/e/fail":
            return None
        return grpc.unary_unary_rpc_method_handler(lambda request, context: request[::-1])


server = grpc.server(futures.ThreadPoolExecutor(4), handlers=[Echo()])
port = server.add_insecure_port("127.0.0.1:0")
server.start()
with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
    call = channel.unary_unary("/e/x")
    print(sum(len(call(b"abc" * i)) for i in range(200)))
    print([c.result()[:3] for c in [call.future(b"xyz") for _ in range(20)]][0])
    try:
        channel.unary_unary("/e/fail")(b"")
    except grpc.RpcError as error:
        print(error.code())
server.stop(None).wait()
print(threading.active_count() < 10)
