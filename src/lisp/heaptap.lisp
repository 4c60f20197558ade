;;; heaptap.lisp: heaptap's interface for Lisp programs, for (load "heaptap.lisp") or ASDF.
;;;
;;; Without `heaptap run`, the functions do nothing.
;;;
;;;     (heaptap:with-profile ("building") (build))
;;;
;;; creates a phase with that name, for `heaptap report --between building`.
(defpackage heaptap
  (:use cl)
  (:export with-profile snapshot mark start stop present-p))
(in-package heaptap)

(defun call (name &rest arguments)
  (let ((function (and (find-package "SI") (find-symbol name "SI"))))
    (when (and function (fboundp function))
      (apply function arguments))))

(defun present-p ()
  "Is this program recorded?"
  (let ((function (and (find-package "SI") (find-symbol "HEAPTAP-MARK" "SI"))))
    (and function (fboundp function) t)))

(defun snapshot (name)
  "Keep what every stack holds now, under NAME, for `heaptap report --at NAME`."
  (call "HEAPTAP-SNAPSHOT" (string name)))

(defun mark (name)
  "The program begins something: a name on the timeline."
  (call "HEAPTAP-MARK" (string name)))

(defun start ()
  "Record from now on."
  (call "HEAPTAP-START"))

(defun stop ()
  "Record nothing more. What is freed of what was recorded is still seen."
  (call "HEAPTAP-STOP"))

(defmacro with-profile ((&optional (name "profile")) &body body)
  "An interval NAME while BODY runs; after it the interval \"after NAME\" begins."
  (let ((text (gensym)))
    `(let ((,text (string ,name)))
       (mark ,text)
       (unwind-protect (progn ,@body)
         (mark (concatenate 'string "after " ,text))))))
